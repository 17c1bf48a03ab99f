# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_odd',
  desc: 'A type that knows more than the gem.',
  features: %w[remote_resource levitates],
  attributes: { name: { type: 'String', behaviour: :namevar } },
)
