# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_transport(
  name: 'crate',
  desc: 'A crate, which is opened when somebody wants to know what is in it.',
  connection_info: {
    password: { type: 'String', desc: 'What opens it', sensitive: true },
  },
)
