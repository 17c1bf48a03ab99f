# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_transport(
  name: 'pdns',
  desc: 'Connects to the HTTP API of a PowerDNS Authoritative Server.',
  connection_info: {
    protocol: {
      type: 'Enum[http, https]',
      desc: 'How the API is spoken.',
      default: 'http',
    },
    host: {
      type: 'String[1]',
      desc: 'The address of the server.',
    },
    port: {
      type: 'Integer[1, 65535]',
      desc: 'The port of its API.',
      default: 8081,
    },
    apikey: {
      type: 'String[1]',
      desc: 'The `api-key` of its configuration.',
      sensitive: true,
    },
    timeout: {
      type: 'Integer[1, 30]',
      desc: 'How many seconds it may take to connect, and to answer.',
      default: 10,
    },
  },
)
