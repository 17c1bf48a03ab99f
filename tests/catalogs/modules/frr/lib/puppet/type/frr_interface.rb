# What Puppet's compiler must know of devgate's type: names, titles, data types.
require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'frr_interface',
  desc: 'An interface.',
  features: ['remote_resource'],
  attributes: {
    name: { type: 'String', behaviour: :namevar, desc: 'The name.' },
    description: { type: 'Optional[String]', desc: 'What it is for.' },
    addresses: { type: 'Optional[Array[String]]', desc: 'Its addresses.' },
    shutdown: { type: 'Optional[Boolean]', desc: 'Whether it is switched off.' },
  },
)
