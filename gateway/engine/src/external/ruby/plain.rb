# frozen_string_literal: true

module Devgate
  # Ruby's values as JSON has them.
  module Plain
    Sensitive = Puppet::Pops::Types::PSensitiveType::Sensitive

    # What bytes are said to be where nobody knows what they are.
    UNSAID = [Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII].freeze

    module_function

    # A value of a resource: what is Sensitive is marked as in Puppet's rich data.
    def data(value)
      of(value) { |secret| { '__ptype' => 'Sensitive', '__pvalue' => secret } }
    end

    # A value for people.
    def shown(value)
      of(value) { 'Sensitive [value redacted]' }
    end

    # A message for people.
    def text(string)
      return string.encode(Encoding::UTF_8, invalid: :replace, undef: :replace) unless UNSAID.include?(string.encoding)

      # Bytes from a device are mostly UTF-8 that nobody has said to be that.
      String.new(string, encoding: Encoding::UTF_8).scrub
    end

    # Attributes are symbols in Ruby.
    def symbolized(hash)
      hash.transform_keys(&:to_sym)
    end

    def of(value, &hide)
      case value
      when nil, true, false, Integer then value
      when Float then value.finite? ? value : value.to_s
      when Numeric then of(value.to_f)
      when String then text(value)
      when Hash then value.to_h { |key, one| [text(key.to_s), of(one, &hide)] }
      when Array, Set then value.map { |one| of(one, &hide) }
      # Its source says all, unless it has options.
      when Regexp then text(value.options.zero? ? value.source : value.to_s)
      when Sensitive then yield of(value.unwrap, &hide)
      when Time, Date then value.iso8601
      else text(value.to_s)
      end
    end
  end
end
