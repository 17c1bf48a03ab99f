# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_command',
  docs: 'Something that is done to a shelf.',
  features: %w[canonicalize remote_resource],
  attributes: {
    name: { type: 'String', desc: 'Its name', behavior: :namevar },
    command: { type: 'String', desc: 'What is done' },
  },
)
