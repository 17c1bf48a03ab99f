# What Puppet's compiler must know of devgate's type: names, titles, data types.
require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'frr_static_route',
  desc: 'A static route.',
  features: ['remote_resource'],
  title_patterns: [
    { pattern: %r{\A(?<prefix>\S+) via (?<next_hop>\S+) vrf (?<vrf>\S+)\z}, desc: 'in a VRF' },
    { pattern: %r{\A(?<prefix>\S+) via (?<next_hop>\S+)\z}, desc: 'in the default VRF' },
  ],
  attributes: {
    ensure: { type: 'Enum[present, absent]', default: 'present', desc: 'Whether it is there.' },
    prefix: { type: 'String', behaviour: :namevar, desc: 'The destination.' },
    next_hop: { type: 'String', behaviour: :namevar, desc: 'Where packets go.' },
    vrf: { type: 'String', behaviour: :namevar, default: 'default', desc: 'The VRF.' },
    distance: { type: 'Optional[Integer]', desc: 'The administrative distance.' },
  },
)
