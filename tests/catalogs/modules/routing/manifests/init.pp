# The routing of an edge router.
class routing (Integer $distance = 20, Sensitive[String] $password = Sensitive('a-canary-bgp')) {
  Frr_interface { shutdown => false }
  notify { 'routing is set up': }
  frr_interface { 'swp1': description => 'to the lab', addresses => ['10.51.0.1/24'] }
  routing::discard { ['10.9.0.0/16', '10.8.0.0/16']: distance => $distance, require => Frr_interface['swp1'] }
  frr_bgp_neighbor { '65001 192.0.2.7': remote_as => 64999, password => $password, tag => 'peer' }
  Frr_interface['swp1'] -> Frr_bgp_neighbor['65001 192.0.2.7'] ~> Notify['routing is set up']
}
