# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_transport(
  name: 'shelf',
  desc: 'A shelf of books, which is a JSON file.',
  connection_info: {
    file: { type: 'String', desc: 'The file' },
    password: { type: 'String', desc: 'Its lock', sensitive: true, older: 'pin' },
    rows: { type: 'Integer[1]', desc: 'How many rows it has', default: 3 },
    slow: { type: 'Optional[Integer]', desc: 'Seconds that it takes to look at it' },
  },
)
