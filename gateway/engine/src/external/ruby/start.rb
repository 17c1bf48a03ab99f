# frozen_string_literal: true

# Starts the host of Ruby modules. For a target it is forked off of what was loaded for the description of the
# same module, which is ten times as fast; where that is not there, it is loaded for this target alone.

require 'rbconfig'
require 'socket'

transport, _libs, action = ARGV
begin
  loaded = UNIXSocket.new(File.join(__dir__, "#{transport}.sock")) if action == 'serve'
rescue SystemCallError, ArgumentError
  loaded = nil
end
exec(RbConfig.ruby, File.join(__dir__, 'host.rb'), *ARGV) unless loaded

# Who ends this process ends that of the target: this one waits for its end, so that it has ended with this one.
trap(:TERM) { loaded.close_write }
files = [$stdin, $stdout, $stderr]
files.each { |file| loaded.send_io(file) }
loaded.puts(ENV['DEVGATE_TASK'])
# They are the host's now; and as that ends, so does this process.
files.each { |file| file.reopen(File::NULL) }
code = loaded.gets
exit!(code ? code.to_i : 1)
