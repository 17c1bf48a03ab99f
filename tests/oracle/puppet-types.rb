# What a live Puppet says of data types and values, for schemas/tests/data/puppet-types-more.json.
#
#   ruby tests/oracle/puppet-types.rb FILE     asks again for every case of FILE and rewrites it
#   ruby tests/oracle/puppet-types.rb -        reads lines {"type": ..., "value": ...}, writes verdicts
#
# It needs the Debian packages puppet-agent and ruby-puppet-resource-api. What JSON cannot write is
# written by convention: a text ":sym" is a symbol, a key that is a whole number is one.

require 'json'
require 'puppet'
require 'puppet/resource_api/data_type_handling'

Puppet::Util::Log.level = :err
HANDLING = Puppet::ResourceApi::DataTypeHandling

def decode(value)
  case value
  when Array then value.map { |item| decode(item) }
  when Hash then value.to_h { |key, item| [key.match?(/\A-?\d+\z/) ? Integer(key, 10) : key, decode(item)] }
  when /\A:/ then value[1..].to_sym
  else value
  end
end

def verdict(type, value)
  parsed = HANDLING.parse_puppet_type(:x, type)
  mismatch = HANDLING.try_validate(parsed, decode(value), '')
  { canonical: parsed.to_s, ok: mismatch.nil?, mismatch: mismatch }
rescue StandardError, SystemStackError => e
  { error_class: e.class.name, error: e.message }
end

if ARGV == ['-']
  $stdin.each_line(chomp: true) do |line|
    request = JSON.parse(line)
    puts JSON.generate(verdict(request['type'], request['value']))
  end
else
  file, = ARGV
  cases = JSON.parse(File.read(file))['cases'].map do |one|
    { type: one['type'], value: one['value'] }.merge(verdict(one['type'], one['value']))
  end
  lines = cases.map { |one| JSON.generate(one) }.join(",\n")
  oracle = "puppet #{Puppet.version}, parse_puppet_type and try_validate of puppet-resource_api"
  File.write(file, "{\"oracle\": #{JSON.generate(oracle)}, \"cases\": [\n#{lines}\n]}\n")
end
