# frozen_string_literal: true

require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'pdns_zone',
  desc: <<-DESC,
    A zone of a PowerDNS server.

    pdns_zone { 'example.org':
      kind        => 'Native',
      nameservers => ['ns1.example.org.'],
    }
  DESC
  features: ['canonicalize', 'remote_resource'],
  attributes: {
    ensure: {
      type: 'Enum[present, absent]',
      desc: 'Whether it is there. Its records go with it.',
      default: 'present',
    },
    name: {
      type: 'Pattern[/\A\S+\z/]',
      desc: 'Its name; the dot at its end may be left out.',
      behaviour: :namevar,
    },
    kind: {
      type: 'Enum["Native", "Master", "Slave"]',
      desc: 'How it is replicated.',
      default: 'Native',
    },
    account: {
      type: 'Optional[String]',
      desc: 'Whose it is.',
    },
    nameservers: {
      type: 'Optional[Array[String[1]]]',
      desc: 'The NS records that a new zone begins with.',
      behaviour: :parameter,
    },
    serial: {
      type: 'Optional[Integer]',
      desc: 'The serial number in its SOA.',
      behaviour: :read_only,
    },
  },
)
