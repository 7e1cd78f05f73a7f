/** Generates an id for an answer or a message: a UUIDv7 (RFC 9562), which browsers do not provide. */
export function newId(now = Date.now()): string {
  const time = Math.floor(Math.abs(now)).toString(16).padStart(12, '0');
  const random = [...crypto.getRandomValues(new Uint8Array(10))].map(byte => byte.toString(16).padStart(2, '0'));
  return (time + random.join('')).replace(/^(.{8})(....).(...).(...)/, '$1-$2-7$3-8$4-'); // version 7, variant 8
}
