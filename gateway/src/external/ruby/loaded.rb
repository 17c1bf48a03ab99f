# frozen_string_literal: true

require 'socket'

module Devgate
  # What was loaded once for a module, and is forked for each of its targets.
  class Loaded
    # How long a target's process has after it was asked to end, and how soon the end of devgate is noticed.
    GRACE = 2
    SOON = 0.5

    # Stays behind, while this process goes on. Where it cannot, targets are started by themselves.
    def self.stay(modules)
      server = UNIXServer.new(File.join(__dir__, "#{modules.transport}.sock"))
      devgate = Process.ppid
      Process.detach(fork { new(modules, server, devgate).run })
      server.close
    rescue SystemCallError, ArgumentError => e
      Devgate.wire.say(:debug, e.message)
    end

    def initialize(modules, server, devgate)
      @modules = modules
      @server = server
      @devgate = devgate
      @connections = {}
    end

    def run
      Process.setsid
      Devgate.wire.close
      Thread.new { end_with_devgate }
      loop { start(@server.accept) }
    end

    private

    def start(connection)
      files = Array.new(3) { connection.recv_io }
      mark = connection.gets.to_s.chomp
      @connections[connection] = nil
      pid = fork { serve(files, mark) }
      @connections[connection] = pid
      Thread.new { stay_with(connection, pid) }
    rescue SystemCallError, IOError, SocketError
      # Who has asked is gone.
      @connections.delete(connection)
      connection.close
    ensure
      files&.each(&:close)
    end

    # Does what the host of one target does.
    def serve(files, mark)
      Process.setsid
      [@server, *@connections.keys].each(&:close)
      [$stdin, $stdout, $stderr].zip(files) { |own, given| own.reopen(given) }
      files.each(&:close)
      ENV['DEVGATE_TASK'] = mark
      Devgate.rewire
      Devgate.run { Devgate.serve(@modules.tap(&:settle)) }
    end

    # Tells how a target's process ended; and ends it, where nobody listens any more.
    def stay_with(connection, pid)
      listener = Thread.new do
        connection.read
        end_process(pid)
      end
      status = Process.wait2(pid).last
      listener.kill
      connection.puts(status.exitstatus || (128 + status.termsig))
    rescue SystemCallError
      # Nobody listens.
    ensure
      @connections.delete(connection)
      connection.close
    end

    def end_process(pid)
      Process.kill(:TERM, -pid)
      sleep GRACE
      Process.kill(:KILL, -pid)
    rescue SystemCallError
      # It has ended.
    end

    def end_with_devgate
      sleep SOON while File.socket?(@server.path) && Process.kill(0, @devgate)
    rescue SystemCallError
      # It has ended.
    ensure
      @connections.values.compact.map { |pid| Thread.new { end_process(pid) } }.each(&:join)
      exit!
    end
  end
end
