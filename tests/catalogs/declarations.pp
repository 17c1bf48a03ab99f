# Everything that devgate reads of Puppet's language: declarations of resources, and what they are
# made of.
$uplink = 'swp1'
$site = { 'name' => 'lab', 'ports' => [$uplink, 'swp2'], 7 => 'seven' }
$common = { shutdown => false, 'tag' => ['edge', "${site['name']}-port"] }

/* The defaults below hold for what comes
   after them. */
frr_interface {
  $uplink:
    description => "to the ${site['name']}: \"${site[ports][1]}\" costs \$5\t\u{20ac}",
    addresses   => ['10.51.0.1/24', "2001:db8::${uplink}"],
    *           => $common;
  $site['ports'][-1]:
    description => 'it\'s a \ and a $variable',
    shutdown    => undef,
    noop        => true;
}

Frr_interface {
  shutdown => true,
  loglevel => debug,
}

frr_interface {
  default:
    description => bare-word;
  ['swp3', ['swp4']]:
    ;
  'swp5':
    description => '',
    audit       => all,
}

frr_interface { 'swp6': description => @("END"/L) } -> frr_interface { 'swp7': description => @(END) }
    margin of ${uplink} \
    goes on, \n stays
      deeper
    | END
  raw $uplink
  |- END

$peer = '192.0.2.7'
frr_bgp_neighbor { "65001 ${peer}":
  remote_as => 0xFDE7,
  password  => Sensitive('a-canary-bgp'),
  require   => [Frr_interface['swp1'], Frr_interface['swp2', 'swp3']],
  alias     => 'peer',
}
frr_static_route { '10.9.0.0/16 via Null0': ensure => absent, distance => 017 }

Frr_interface['swp1'] ~> [Frr_bgp_neighbor['65001 192.0.2.7'], Frr_static_route['10.9.0.0/16 via Null0']]
Frr_interface['swp3', 'swp4'] <- Frr_interface['swp5'] <~ Frr_interface['swp6']
