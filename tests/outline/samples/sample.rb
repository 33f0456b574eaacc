require 'x'
module A
  # def fake
  class B < C
    attr_reader :x
    def initialize(a, b = {})
      if a
        puts "class Fake"
      end
    end
    def self.make = new(1)
    def one; 1; end
    private def two?(x)
      text = <<~SQL
        def fake2
        end
      SQL
    end
  end
  class Err < StandardError; end
=begin
class Fake3
=end
end
def top
end
__END__
def data
