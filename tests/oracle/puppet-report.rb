# Asks Puppet what it makes of reports: `ruby tests/oracle/puppet-report.rb FILE...` (.json or .yaml, as
# `devgate device --report DIR --report-format puppet-json|puppet-yaml` writes them). Ends with 1 where
# Puppet finds another status than the file says, or cannot read it.
require 'json'
require 'puppet'
require 'puppet/transaction/report'

ARGV.each do |path|
  text = File.read(path)
  report = if path.end_with?('.json')
             Puppet::Transaction::Report.from_data_hash(JSON.parse(text))
           else
             Puppet::Util::Yaml.safe_load(text, [Puppet::Transaction::Report])
           end
  said = report.status
  counted = report.resource_statuses.values.any?(&:failed) ? 'failed' : said
  abort "#{path}: says #{said}, its resources #{counted}" unless said == counted
  again = Puppet::Transaction::Report.from_data_hash(JSON.parse(report.to_data_hash.to_json))
  puts "#{path}: #{again.host} #{again.status}, #{again.resource_statuses.size} resources, " \
       "#{again.logs.size} logs, #{again.metrics['events']['total']} events"
  puts again.summary
end
