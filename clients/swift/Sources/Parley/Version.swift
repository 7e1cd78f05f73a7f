/// Version of this package, independent of the server's version.
let clientVersion = "0.2.0"

/// `User-Agent` of requests to Parley.
let userAgent = "parley-swift/\(clientVersion)"
