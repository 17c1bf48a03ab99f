# frozen_string_literal: true

module Devgate
  # The gem's context of a provider, whose words become events of the resources that they are about.
  class Context < Puppet::ResourceApi::PuppetContext
    # The titles of the resources that may be spoken of, by what the provider calls them; nothing where
    # none is to be changed.
    attr_writer :titles

    # Whether it has said that one of them failed.
    attr_reader :told_failure

    def reset_failed
      super
      @told_failure = false
    end

    %i[debug info notice warning err].each do |level|
      define_method(level) do |*args|
        args[-1] = args.last[:message] if args.last.is_a?(Hash) && args.last.keys == [:message]
        case args.length
        when 1 then tell(level, @about, [@doing, args.last].compact.join(': '))
        when 2 then tell(level, *args)
        else tell(level, nil, args.join(', '))
        end
      end
    end

    %i[creating updating deleting].each do |method|
      define_method(method) do |titles, message: method.to_s.capitalize, &block|
        within(titles, message, 'Start', 'Failed', block) { |took| notice("Finished in #{took}") }
      end
    end

    def failing(titles, message: 'Failing', &block)
      within(titles, message, 'Start', 'Failed', block) do |took|
        warning("Finished failing in #{took}")
        give_up(message)
      end
    end

    def processing(title, is, should, message: 'Processing', &block)
      alone(title)
      start = "Starting processing of #{title} from #{is} to #{should}"
      within(title, message, start, "Failed processing #{title}", block) do |took|
        notice("Finished processing #{title} in #{took}: #{should}")
      end
    end

    %i[created updated deleted unchanged].each do |method|
      define_method(method) do |titles, message: method.to_s.capitalize|
        known = known(titles)
        next notice("#{message}: #{titles}") unless known

        event = { 'action' => method.to_s, 'title' => known }
        event['message'] = words(message) unless message == method.to_s.capitalize
        Devgate.wire.event(event)
      end
    end

    def processed(title, is, should)
      alone(title)
      notice(title, "Processed #{title} from #{is} to #{should}")
    end

    def attribute_changed(title, attribute, is, should, message: nil)
      alone(title)
      known = known(title)
      return super unless known

      event = { 'action' => 'attribute_changed', 'title' => known, 'attribute' => attribute.to_s,
                'is' => Plain.shown(is), 'should' => Plain.shown(should), 'message' => words(message) }
      Devgate.wire.event(event)
    end

    # The gem only says it. A resource of which that is said has failed, as the document has it.
    def failed(titles, message: 'Updating has failed')
      outer = @about
      @about = titles
      give_up(message)
    ensure
      @about = outer
    end

    private

    def alone(title)
      raise "#{caller_locations(1, 1).first.label} only accepts a single resource title" if title.is_a?(Array)
    end

    # Does the work of a block: what goes wrong in it is the failure of its resources, and nobody else's.
    def within(titles, doing, start, failed, work)
      outer = [@about, @doing]
      @about = titles
      @doing = doing
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      took = lambda do
        seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
        "#{format_seconds(seconds)} seconds"
      end
      debug(start)
      work.call
      yield took.call
    rescue StandardError => e
      give_up("#{doing}: #{failed} after #{took.call}: #{Devgate.failure(e)}")
    ensure
      @about, @doing = outer
    end

    def give_up(message)
      @failed = true
      known = known(@about)
      return tell(:err, @about, message) unless known

      @told_failure = true
      Devgate.wire.event('action' => 'failed', 'title' => known, 'message' => Plain.text(message.to_s))
    end

    def tell(level, titles, message)
      known = known(titles)
      if known
        Devgate.wire.event('level' => level.to_s, 'title' => known, 'message' => Plain.text(message.to_s))
      else
        Devgate.wire.say(level, titles.nil? ? message : "#{format_titles(titles)}: #{message}")
      end
    end

    def words(message)
      Plain.text(message.to_s) unless message.nil?
    end

    # The titles of resources; nothing where one of them is none that may be spoken of.
    def known(titles)
      titles = [titles].compact unless titles.is_a?(Array)
      found = titles.map { |title| @titles ? @titles[title] || @titles[namevars(title)] : Plain.text(title.to_s) }
      found unless found.empty? || found.include?(nil)
    end

    # What another title of a resource with several namevars says of these, by the first pattern that fits.
    def namevars(title)
      patterns = (type.definition[:title_patterns] || []).map { |known| Regexp.new(known[:pattern]) }
      match = patterns.lazy.filter_map { |pattern| pattern.match(title.to_s) }.first
      match&.named_captures&.transform_keys(&:to_sym)
    end
  end
end
