# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_label',
  desc: 'A label on a shelf.',
  place: 'labels',
  features: %w[simple_get_filter remote_resource],
  attributes: {
    ensure: { type: 'Enum[present, absent]', desc: 'Whether it is there', default: 'present' },
    name: { type: 'String', desc: 'Where it is', behaviour: :namevar },
    text: { type: 'Optional[String]', desc: 'What it says' },
  },
)
