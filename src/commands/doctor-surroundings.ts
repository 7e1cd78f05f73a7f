import { connect } from 'node:tls';
import type { Config } from '../platform/config.ts';
import { mailServerOf } from '../platform/mail.ts';
import { type Check, ill, reasonOf, well } from './doctor-check.ts';

const PROBE_MS = 3000;

/** Checks the mail server, and whether `BASE_URL` is the address that browsers use. */
export const examineSurroundings = async (config: Config): Promise<Check[]> =>
  Promise.all([examineMail(config), examineBaseUrl(config)]);

async function examineMail(config: Config): Promise<Check> {
  const server = mailServerOf(config);
  if (!server) return well('mail', 'no mail server is configured: links are shown and not mailed');
  try {
    await server.greet();
    return well('mail', 'the mail server can be reached, and accepts the login of SMTP_URL');
  } catch (error) {
    return ill('mail', `the mail server cannot be used: ${reasonOf(error)}`, mendMail(reasonOf(error)));
  }
}

const UNTRUSTED =
  'Set NODE_EXTRA_CA_CERTS to the certificate of its authority. For a self-signed one, that is the certificate itself.';

/** Remedies by the code of the connection's error, or that of the server's reply. */
const MAIL_MENDS: [RegExp, string][] = [
  [/^ENOTFOUND|^EDNS|^EAI_AGAIN/, 'The host in SMTP_URL has no address: check its name and the name servers.'],
  [/SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/, UNTRUSTED],
  [/ALTNAME/, "Use the host name in the server's certificate in SMTP_URL."],
  [/^CERT_/, "The server's certificate is not valid now: renew it, or check the clocks of both machines."],
  [/^(53[0458]|EAUTH)/, 'Check user and password in SMTP_URL, percent-encoded, and that the connection is encrypted.'],
  [
    /^STARTTLS/,
    'The server offers no encryption, so the password is not sent: use smtps://, or add ?requireTLS=false to SMTP_URL in a network that you trust.',
  ],
  [/^\d{3}/, "Ask the mail server's operator what this reply means."],
];

const mendMail = (reason: string): string =>
  MAIL_MENDS.find(([pattern]) => pattern.test(reason))?.[1] ??
  'Check host and port in SMTP_URL (smtps:// for 465, smtp:// for 587 and 25), firewalls, and network policies: mails are sent by workers, so run `doctor` where a worker runs.';

const isLocal = (hostname: string): boolean => /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname);

async function examineBaseUrl({ BASE_URL, TRUSTED_PROXY_HOPS }: Config): Promise<Check> {
  const url = new URL(BASE_URL);
  const fine = well('base url', BASE_URL);
  if (isLocal(url.hostname)) return fine;
  if (url.protocol === 'https:')
    return TRUSTED_PROXY_HOPS > 0
      ? fine
      : { ...fine, hint: 'A proxy must serve https, and TRUSTED_PROXY_HOPS is 0: all clients count as one address.' };
  const ports = [443, ...(url.port ? [Number(url.port)] : [])];
  const serving = await Promise.all(ports.map(port => speaksTls(url.hostname.replace(/^\[|\]$/g, ''), port)));
  if (!serving.includes(true)) return { ...fine, hint: 'Passwords and sessions cross the network unencrypted.' };
  return ill(
    'base url',
    `is ${BASE_URL}, but the host serves https`,
    'Set BASE_URL to the https address. Otherwise logins from there are refused with 403 `cross-site-request`, and links in mails are not https.',
  );
}

/** Whether a server completes a TLS handshake, with any certificate. */
const speaksTls = (host: string, port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: PROBE_MS });
    const end = (answer: boolean) => {
      resolve(answer);
      socket.destroy();
    };
    socket.once('secureConnect', () => end(true));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
