# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'crate_box',
  desc: 'A box in a crate.',
  features: %w[canonicalize remote_resource],
  attributes: {
    name: { type: 'String', desc: 'Its name', behaviour: :namevar },
    colour: { type: 'Optional[String]', desc: 'Its colour' },
  },
)
