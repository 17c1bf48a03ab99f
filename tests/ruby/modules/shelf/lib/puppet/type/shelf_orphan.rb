# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_orphan',
  desc: 'Nobody provides it.',
  features: ['remote_resource'],
  attributes: { name: { type: 'String', desc: 'Its name', behaviour: :namevar } },
)
