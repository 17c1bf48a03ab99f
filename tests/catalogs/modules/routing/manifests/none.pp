# A class without resources, in a stage of its own.
class routing::none { }
