# frozen_string_literal: true

require 'json'
require 'net/http'

module Puppet; end
module Puppet::Transport; end

# A session with PowerDNS: one connection, kept from the first request to `close`.
class Puppet::Transport::Pdns
  SERVER = '/api/v1/servers/localhost'
  RETRIES = 3

  # The server has answered that it will not.
  class Refused < StandardError; end

  # What was asked for is not there.
  class Missing < Refused; end

  def initialize(context, connection_info)
    @context = context
    @apikey = connection_info[:apikey]
    @http = Net::HTTP.new(connection_info[:host], connection_info[:port])
    @http.use_ssl = connection_info[:protocol] == 'https'
    @http.open_timeout = @http.read_timeout = @http.write_timeout = connection_info[:timeout]
    @http.keep_alive_timeout = 30
    @http.max_retries = 0
  end

  def verify(_context)
    get
  end

  def facts(_context)
    server = get
    {
      'operatingsystem' => 'PowerDNS',
      'operatingsystemrelease' => server['version'],
      'pdns' => {
        'id' => server['id'],
        'daemon_type' => server['daemon_type'],
        'encrypted' => @http.use_ssl?,
        'tsig_keys' => get('/tsigkeys').map { |key| key['name'] }.sort,
      },
    }
  end

  def close(context)
    @http.finish if @http.started?
  rescue IOError => e
    context.debug("the connection was closed already: #{e.message}")
  end

  # Each path is below that of the server.
  def get(path = '')
    request(Net::HTTP::Get, path)
  end

  def post(path, body)
    request(Net::HTTP::Post, path, body)
  end

  def put(path, body)
    request(Net::HTTP::Put, path, body)
  end

  def patch(path, body)
    request(Net::HTTP::Patch, path, body)
  end

  def delete(path)
    request(Net::HTTP::Delete, path)
  end

  private

  def request(method, path, body = nil)
    start unless @http.started?
    request = method.new(SERVER + path, 'X-API-Key' => @apikey.unwrap, 'Content-Type' => 'application/json')
    request.body = JSON.generate(body) if body
    answer = @http.request(request)
    return answer.body.to_s.empty? ? nil : JSON.parse(answer.body) if answer.is_a?(Net::HTTPSuccess)

    refused = answer.is_a?(Net::HTTPNotFound) ? Missing : Refused
    raise refused, "#{request.method} #{path}: #{answer.code} #{reason(answer)}"
  end

  # A server that is being restarted refuses connections for a moment.
  def start
    attempt = 0
    begin
      @http.start
    rescue Errno::ECONNREFUSED, Errno::ECONNRESET => e
      attempt += 1
      raise if attempt > RETRIES

      @context.notice("cannot connect (#{e.message}), trying again in #{attempt} s")
      sleep attempt
      retry
    end
  end

  def reason(answer)
    JSON.parse(answer.body)['error']
  rescue JSON::ParserError
    answer.message
  end
end
