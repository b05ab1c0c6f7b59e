package claim

// Overlaps is overlaps, for the tests outside the package.
var Overlaps = overlaps
