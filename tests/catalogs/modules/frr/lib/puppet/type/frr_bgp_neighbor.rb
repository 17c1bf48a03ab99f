# What Puppet's compiler must know of devgate's type: names, titles, data types.
require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'frr_bgp_neighbor',
  desc: 'A BGP neighbour.',
  features: ['remote_resource'],
  title_patterns: [{ pattern: %r{\A(?<asn>\d+) (?<neighbor>\S+)\z}, desc: 'AS and neighbour' }],
  attributes: {
    ensure: { type: 'Enum[present, absent]', default: 'present', desc: 'Whether it is there.' },
    asn: { type: 'Integer', behaviour: :namevar, desc: 'The AS of the router.' },
    neighbor: { type: 'String', behaviour: :namevar, desc: 'The address of the neighbour.' },
    remote_as: { type: 'Optional[Integer]', desc: 'The AS of the neighbour.' },
    password: { type: 'Optional[String]', desc: 'The password of the session.' },
  },
)
