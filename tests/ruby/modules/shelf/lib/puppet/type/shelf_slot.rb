# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'shelf_slot',
  desc: 'A place on a shelf.',
  # Types that manage hosts, too, are for devices only where there is one.
  features: %w[custom_insync supports_noop] + (Puppet::Util::NetworkDevice.current ? ['remote_resource'] : []),
  title_patterns: [
    { pattern: %r{\A(?<row>[a-z]+)/(?<place>[0-9]+)\z}i, desc: 'Row and place' },
    { pattern: %r{\A(?<row>[a-z]+)\z}, desc: 'The row' },
  ],
  attributes: {
    row: { type: 'String', desc: 'The row', behaviour: :namevar },
    place: { type: 'Pattern[/\A[0-9]+\z/]', desc: 'The place', behaviour: :namevar, default: '1' },
    width: { type: 'Optional[Integer]', desc: 'How wide it is, in millimetres' },
    colour: { type: 'Optional[String]', desc: 'Its colour' },
  },
)
