import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';

/** More than a lost first packet (1 s) and the slowest links need; less than any time limit of a request. */
const CONNECT_MS = 2000;

/**
 * Lets connections of this process take longer than Node does. Of a host with several addresses, Node gives up each one but
 * the last after 250 ms: too short for a distant host or a slow link, and a host that also has an IPv6 address could then not be
 * reached at all from a network without IPv6.
 */
export const allowSlowConnections = (): void => setDefaultAutoSelectFamilyAttemptTimeout(CONNECT_MS);
