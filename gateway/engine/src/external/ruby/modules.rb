# frozen_string_literal: true

module Devgate
  # What there is in Ruby: a transport, and the types of the folders where Ruby is looked for.
  class Modules
    attr_reader :transport

    def initialize(transport, libs)
      @transport = transport
      $LOAD_PATH.unshift(*libs)
      Puppet.initialize_settings(places.flat_map { |place, folder| ["--#{place}", folder] }, false)
      settle
      Puppet::Util::Log.level = :debug
      Puppet::Util::Log.newdestination(:devgate)
    end

    # Makes folders of Puppet's for this process alone: nothing of its usual ones is read or written.
    def settle
      places.each { |place, folder| Puppet[place] = folder }
      %i[vardir statedir].each { |place| FileUtils.mkdir_p(Puppet[place], mode: 0o700) }
    end

    # The transport's schema, and what each of these types is, or why it is none.
    def described(names)
      { 'transport' => Plain.shown(schema.definition), 'types' => names.to_h { |name| [name, kind(name)] } }
    end

    def schema
      require "puppet/transport/schema/#{transport}"
      @schema ||= Puppet::ResourceApi::Transport.list[transport] or
        raise "puppet/transport/schema/#{transport}.rb registers no transport `#{transport}`"
    end

    def type(name)
      type = Puppet::Type.type(name.to_sym)
      raise "puppet/type/#{name}.rb registers no type `#{name}`" unless type
      raise "`#{name}` is not registered by Puppet::ResourceApi.register_type" unless type.respond_to?(:type_definition)

      type
    end

    private

    def places
      places = %i[confdir codedir vardir publicdir logdir rundir].select { |place| Puppet.settings.setting(place) }
      places.to_h { |place| [place, File.join(__dir__, Process.pid.to_s, place.to_s)] }
    end

    def kind(name)
      # Many types are for devices only where there is one. This one has not been reached.
      @device ||= Puppet::ResourceApi::Transport::Wrapper.allocate.tap do |device|
        device.instance_variable_set(:@schema, schema)
        make_current(device)
      end
      { 'definition' => Plain.shown(type(name).type_definition.definition) }
    rescue *FAILURES => e
      { 'error' => Devgate.failure(e) }
    end

    def make_current(device)
      if Puppet::Util::NetworkDevice.respond_to?(:set_device)
        Puppet::Util::NetworkDevice.set_device(transport, device)
      else
        Puppet::Util::NetworkDevice.instance_variable_set(:@current, device)
      end
    end
  end
end

# What modules tell Puppet, and not their context.
Puppet::Util::Log.newdesttype :devgate do
  def handle(message)
    level = %i[alert emerg crit].include?(message.level) ? :err : message.level
    Devgate.wire.say(level, message.to_s)
  end
end
