# frozen_string_literal: true

module Devgate
  # A target behind its transport, and all that is asked of it.
  class Target
    def initialize(modules)
      @modules = modules
      @kinds = Hash.new { |kinds, name| kinds[name] = Kind.new(modules.type(name)) }
    end

    def answer(action, input)
      connect(input['_target'])
      { 'results' => public_send(action, input) }
    rescue *FAILURES => e
      { 'error' => { 'msg' => Devgate.failure(e) } }
    end

    def close
      @transport.close(context) if @transport.respond_to?(:close)
    end

    def verify(_input)
      @transport.verify(context) if @transport.respond_to?(:verify)
      {}
    end

    def facts(_input)
      { 'facts' => Plain.shown(@transport.facts(context)) }
    end

    def get(input)
      { 'resources' => @kinds[input['type']].get(input['names']) }
    end

    def set(input)
      kind = @kinds[input['type']]
      input['changes'].each { |change| kind.set(change, input['noop']) }
      {}
    end

    def canonicalize(input)
      { 'resources' => @kinds[input['type']].canonicalize(input['resources']) }
    end

    def insync(input)
      @kinds[input['type']].insync(*input.values_at('name', 'property', 'is', 'should'))
    end

    private

    # It is the current device before any of its types is loaded.
    def connect(target)
      return if @transport

      name = @modules.transport
      Puppet[:certname] = target['name'].downcase
      # Other keys are the runtime's.
      attributes = @modules.schema.attributes
      info = Plain.symbolized(target).select { |key, value| attributes.key?(key) && !value.nil? }
      transport = Puppet::ResourceApi::Transport.connect(name, info)
      Puppet::ResourceApi::Transport.inject_device(name, transport)
      @transport = transport
    end

    def context
      Puppet::ResourceApi::PuppetContext.new(@modules.schema)
    end
  end

  # A type, and its provider for the current device.
  class Kind
    def initialize(type)
      @type = type.type_definition
      @provider = type.my_provider
      @context = Context.new(@type)
    end

    def get(names)
      names = names ? names.map { |name| called(name) } : all
      rows = @type.feature?('simple_get_filter') ? @provider.get(@context, names) : @provider.get(@context)
      resources('get', rows)
    end

    # One change at a time, as the gem does it: what a provider raises is the failure of that resource.
    def set(change, noop)
      title, name = change['title'], called(change['name'])
      @context.titles = { title => title, name => title }
      @context.reset_failed
      asked = { name => { is: is(change['is'], name), should: resource(change['should']) } }
      @type.feature?('supports_noop') ? @provider.set(@context, asked, noop: noop) : @provider.set(@context, asked)
      @context.failed(title, message: 'Execution encountered an error') if @context.failed? && !@context.told_failure
    rescue *FAILURES => e
      @context.failed(title, message: Devgate.failure(e))
    ensure
      @context.titles = nil
    end

    def canonicalize(resources)
      resources = resources.map { |resource| resource(resource) }
      resources('canonicalize', @provider.canonicalize(@context, resources))
    end

    def insync(name, property, is, should)
      sides = [is, should].map { |side| resource(side) }
      in_sync, message = @provider.insync?(@context, called(name), property.to_sym, *sides)
      unless [nil, true, false].include?(in_sync)
        raise "insync? of `#{property}` gave a #{in_sync.class}: expected true, false or nil, and perhaps a message"
      end

      { 'in_sync' => in_sync, 'message' => (Plain.text(message.to_s) if in_sync == false && message) }
    end

    private

    # What identifies a resource: a value, or a hash of several namevars.
    def called(name)
      name.is_a?(Hash) ? Plain.symbolized(name) : name
    end

    # What the gem passes where all are wanted: an empty list at first, nil since.
    def all
      Gem::Version.new(Puppet::ResourceApi::VERSION) > Gem::Version.new('1.8.16') ? nil : []
    end

    def is(resource, name)
      return resource(resource) if resource

      absent = name.is_a?(Hash) ? name.dup : { title: name }
      @type.ensurable? ? absent.merge(ensure: :absent) : absent
    end

    # A resource as providers take it: what its type wants to be Sensitive is that again.
    def resource(resource)
      Plain.symbolized(resource).to_h { |key, value| [key, wants_secret?(key, value) ? secret(value) : value] }
    end

    def wants_secret?(key, value)
      type = @type.attributes.dig(key, :type).to_s
      return false unless type.include?('Sensitive')

      @data_types ||= {}
      @data_types[key] ||= Puppet::ResourceApi::DataTypeHandling.parse_puppet_type(key, type)
      @data_types[key].instance?(secret(value))
    end

    def secret(value)
      Plain::Sensitive.new(value)
    end

    def resources(action, rows)
      unless rows.is_a?(Array) && rows.all?(Hash)
        raise "#{action} of `#{@type.name}` gave a #{rows.class}: expected an Array of Hashes"
      end

      rows.map { |row| Plain.data(row) }
    end
  end
end
