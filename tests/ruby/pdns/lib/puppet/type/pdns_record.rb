# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'pdns_record',
  desc: <<-DESC,
    All records of one name and type.

    pdns_record { 'www.example.org A':
      zone    => 'example.org',
      content => ['192.0.2.1', '192.0.2.2'],
    }
  DESC
  features: ['canonicalize', 'custom_insync', 'remote_resource', 'simple_get_filter'],
  title_patterns: [
    {
      pattern: %r{\A(?<fqdn>\S+) (?<rrtype>[A-Z0-9]+)\z},
      desc: 'The name, a blank, the type',
    },
    {
      pattern: %r{\A(?<fqdn>\S+)\z},
      desc: 'The name alone, the type as an attribute',
    },
  ],
  attributes: {
    ensure: {
      type: 'Enum[present, absent]',
      desc: 'Whether there are any.',
      default: 'present',
    },
    fqdn: {
      type: 'Pattern[/\A\S+\z/]',
      desc: 'The name in full; the dot at its end may be left out.',
      behaviour: :namevar,
    },
    rrtype: {
      type: 'Pattern[/\A[A-Z0-9]+\z/]',
      desc: 'The type, such as `A` or `MX`.',
      behaviour: :namevar,
    },
    zone: {
      type: 'Pattern[/\A\S+\z/]',
      desc: 'The zone that holds them.',
      behaviour: :init_only,
    },
    content: {
      type: 'Optional[Array[String[1], 1]]',
      desc: 'What each record says, as a zone file would; the order does not matter.',
    },
    ttl: {
      type: 'Integer[0]',
      desc: 'How long they may be kept, in seconds.',
      default: 3600,
    },
  },
  autorequire: {
    pdns_zone: '$zone',
  },
)
