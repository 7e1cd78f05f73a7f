/**
 * Returns the options of `listen` for a port of an address.
 *
 * Without a host, Node listens on `::`, which includes IPv4, and on 0.0.0.0 where the kernel has no IPv6. With `::` as
 * the host it would fail there.
 */
export const listenOptions = (port: number, host: string): { port: number; host?: string } =>
  host === '::' ? { port } : { port, host };
