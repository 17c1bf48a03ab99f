# frozen_string_literal: true

# The host of Ruby modules: what the Resource API's transports and types are asked, one line of JSON each,
# as docs/external.md has it of programs that stay.
#
#     ruby host.rb TRANSPORT LIB:LIB... schema|serve

require 'date'
require 'json'
require 'set'
require 'time'

Encoding.default_external = Encoding::UTF_8
# Errors quote no code: that is for who debugs it.
if defined?(ErrorHighlight)
  ErrorHighlight.formatter = Object.new.tap { |none| none.define_singleton_method(:message_for) { |_spot| '' } }
end

begin
  require 'puppet'
  require 'puppet/resource_api'
rescue LoadError => e
  abort "Ruby modules need Puppet and its Resource API, and this Ruby has not got them (#{e.message}): on " \
        'Debian, `apt-get install puppet-agent ruby-puppet-resource-api`'
end

require_relative 'plain'
require_relative 'context'
require_relative 'loaded'
require_relative 'modules'
require_relative 'target'

module Devgate
  # Requests come in, answers and events go out. What a module prints goes to stderr, whatever it is.
  class Wire
    def initialize
      @in = $stdin.dup
      @out = $stdout.dup
      @out.sync = true
      @lock = Mutex.new
      $stdin.reopen(File::NULL)
      $stdout.reopen($stderr)
      $stdout.sync = $stderr.sync = true
    end

    # Nothing is asked here any more.
    def close
      [@in, @out].each(&:close)
      [$stdin, $stdout, $stderr].each { |file| file.reopen(File::NULL) }
    end

    # The one thing that is asked of a program that does not stay.
    def input
      JSON.parse(@in.read)['input']
    end

    def each_request
      @in.each_line do |line|
        request = JSON.parse(line)
        @lock.synchronize { @id = request['id'] }
        answer = yield request['action'], request['input']
        @lock.synchronize do
          write(answer.merge('id' => @id))
          @id = nil
        end
      end
    end

    # What is told while nothing is asked, by a thread that a module has left behind, belongs to no answer.
    def event(event)
      @lock.synchronize do
        @id ? write('id' => @id, 'event' => event) : warn("#{event['level']}: #{event['message']}")
      end
    end

    def say(level, message)
      event('level' => level.to_s, 'message' => Plain.text(message.to_s))
    end

    def write(object)
      @out.write("#{JSON.generate(object, max_nesting: 0)}\n")
    end
  end

  # What may end a call of a module: even one that leaves is asked again.
  FAILURES = [StandardError, ScriptError, SystemExit, SystemStackError].freeze

  module_function

  def wire
    @wire || rewire
  end

  # Takes stdin and stdout as they are now.
  def rewire
    @wire = Wire.new
  end

  # What went wrong, in the module's words. Where in its code, only who debugs it needs to know.
  def failure(error)
    error.backtrace&.each { |place| wire.say(:debug, "at #{place}") }
    words = error.message.to_s
    Plain.text(error.instance_of?(RuntimeError) ? words : "#{error.class}: #{words}")
  end

  def schema(modules)
    modules.schema
    Loaded.stay(modules)
    wire.write(modules.described(wire.input['types']))
  rescue *FAILURES => e
    wire.write('_error' => { 'msg' => failure(e) })
  end

  def serve(modules)
    target = Target.new(modules)
    wire.each_request { |action, input| target.answer(action, input) }
    target.close
  end

  # Does everything that there is to do.
  def run
    yield
  rescue *FAILURES => e
    abort failure(e)
  end
end

transport, libs, action = ARGV
Devgate.rewire
Devgate.run { Devgate.public_send(action, Devgate::Modules.new(transport, libs.split(File::PATH_SEPARATOR))) }
