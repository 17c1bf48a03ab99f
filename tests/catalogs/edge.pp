# A site as one writes it for Puppet: stages, a node, classes, a defined type, resource defaults,
# chaining, a sensitive value, exported and virtual resources, a resource of hosts.
stage { 'last': require => Stage['main'] }

node default {
  class { 'routing': }
  class { 'routing::none': stage => 'last' }
  frr_static_route { '10.7.0.0/16 via Null0': ensure => absent, noop => true }
  @@frr_static_route { '10.6.0.0/16 via Null0': }
  @frr_static_route { '10.5.0.0/16 via Null0': }
  @@frr_static_route { '10.4.0.0/16 via Null0': tag => 'mine' }
  Frr_static_route <| tag == 'mine' |>
}
