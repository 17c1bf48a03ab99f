# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_book',
  desc: 'A book on a shelf.',
  features: %w[canonicalize simple_get_filter remote_resource],
  attributes: {
    ensure: { type: 'Enum[present, absent]', desc: 'Whether it is there', default: 'present' },
    name: { type: 'String', desc: 'Its title', behaviour: :namevar },
    author: { type: 'Optional[String]', desc: 'Who wrote it' },
    pages: { type: 'Optional[Integer]', desc: 'How many pages it has' },
    tags: { type: 'Optional[Array[String]]', desc: 'What it is about', element: :word },
    code: { type: 'Optional[Sensitive[String]]', desc: 'How it is borrowed' },
    follows: { type: 'Optional[String]', desc: 'The book before it' },
    lent: { type: 'Boolean', desc: 'Whether it is lent', behaviour: :read_only },
  },
  autorequire: { shelf_book: ['$follows'] },
)
