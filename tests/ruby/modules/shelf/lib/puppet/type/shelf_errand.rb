# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_errand',
  desc: 'Something that is done unless a book is there.',
  features: %w[canonicalize remote_resource],
  attributes: {
    name: { type: 'String', desc: 'Its name', behaviour: :namevar },
    command: { type: 'String', desc: 'What is done' },
    unless: { type: 'Optional[String]', desc: 'The book', behaviour: :parameter },
  },
)
