# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_awkward',
  desc: 'What goes wrong.',
  features: ['remote_resource'],
  attributes: {
    name: { type: 'String', desc: 'Its name', behaviour: :namevar },
    how: { type: 'String', desc: 'What goes wrong' },
  },
)
