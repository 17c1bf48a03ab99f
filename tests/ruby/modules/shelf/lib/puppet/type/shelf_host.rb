# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_host',
  desc: 'Something of the host.',
  attributes: { name: { type: 'String', desc: 'Its name', behaviour: :namevar } },
)
