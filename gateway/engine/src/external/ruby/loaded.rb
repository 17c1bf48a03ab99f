# frozen_string_literal: true

require 'socket'

module Devgate
  # What was loaded once for a module, and is forked for each of its targets.
  class Loaded
    # How many seconds a target's process has after it was asked to end: less than the two that devgate waits
    # for the process that has started it.
    GRACE = 1
    # How often it is looked whether one has ended, and whether devgate has.
    LOOK = 0.05
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
      loop { start }
    end

    private

    def start
      connection = @server.accept
      files = Array.new(3) { connection.recv_io }
      mark = connection.readline.chomp
      @connections[connection] = nil
      pid = fork { serve(files, mark) }
      @connections[connection] = pid
      Thread.new { stay_with(connection, pid) }
    rescue SystemCallError, IOError, SocketError => e
      refuse(connection, files, e)
    ensure
      files&.each(&:close)
    end

    # Tells why there is no process for a target, unless who has asked is gone.
    def refuse(connection, files, error)
      # There are too many files: some will be closed.
      return sleep(SOON) unless connection

      @connections.delete(connection)
      files&.last&.puts("no process for this target could be started: #{error.message}")
    rescue SystemCallError
      # Nobody listens.
    ensure
      connection&.close
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
      ending = false
      listener = Thread.new do
        connection.read
        ending = true
        end_process(pid)
      end
      status = Process.wait2(pid).last
      # It may have ended before all that it has started.
      ending ? listener.join : listener.kill
      connection.puts(status.exitstatus || (128 + status.termsig))
    rescue SystemCallError
      # Nobody listens.
    ensure
      @connections.delete(connection)
      connection.close
    end

    # Ends a target's process with its group.
    def end_process(pid)
      signal(:TERM, pid)
      (GRACE / LOOK).round.times do
        sleep LOOK
        signal(0, pid)
      end
      signal(:KILL, pid)
    rescue SystemCallError
      # It has ended.
    end

    # A process that has just been forked leads no group yet.
    def signal(signal, pid)
      Process.kill(signal, -pid)
    rescue Errno::ESRCH
      Process.kill(signal, pid)
    end

    def end_with_devgate
      sleep SOON while File.socket?(@server.path) && Process.kill(0, @devgate)
    rescue SystemCallError
      # It has ended.
    ensure
      @connections.values.compact.map { |pid| Thread.new { end_process(pid) } }.each(&:join)
      # Who was killed has removed nothing.
      FileUtils.rm_rf(__dir__)
      exit!
    end
  end
end
