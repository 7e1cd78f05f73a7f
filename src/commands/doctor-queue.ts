import type { Config } from '../platform/config.ts';
import { readSentinelReplicas } from '../platform/redis.ts';
import type { DatabaseUrl } from '../platform/store-urls.ts';
import { CLUSTERED, type Inspection, inspectQueue, MAX_MEMORY_RATIO, memoryLimit } from '../queue/durability.ts';
import { checkReplicas } from '../queue/replicas.ts';
import { failureKind } from '../queue/store-failure.ts';
import { type Check, ill, reasonOf, well } from './doctor-check.ts';

/** Checks the store of the queue: durability, replicas, memory. */
export async function examineQueue(config: Config, databaseUrl: DatabaseUrl): Promise<Check[]> {
  const where = config.REDIS_URL ? 'Valkey or Redis' : 'PostgreSQL';
  try {
    const durability = await inspectQueue({
      databaseUrl,
      redisUrl: config.redis,
      relaxed: config.QUEUE_DURABILITY === 'relaxed',
    });
    const { reasons, writesSucceed } = durability;
    const checks = [well('queue', `reachable (${where})`)];
    if (durability.isCluster) checks.push(ill('queue', CLUSTERED, 'For failover use Sentinel: docs/scaling.md.'));
    checks.push(...(await examineReplicas(config, durability)));
    checks.push(...reasons.map(reason => examineDoubt(config, reason, reason === durability.hidden)));
    if (reasons.length === 0) checks.push(well('queue durability', 'acknowledged writes are on disk'));
    if (config.REDIS_URL) checks.push(...examineMemory(config, durability));
    if (!writesSucceed)
      checks.push(ill('queue disk', 'the last write to disk failed', 'Free disk space for the queue.'));
    return checks;
  } catch (error) {
    return [ill('queue', `${where} cannot be reached: ${reasonOf(error)}`, await mendConnection(config, error))];
  }
}

/** Why a confirmed answer may be lost: a fault, unless the operator has chosen that, or answers for a hidden setting. */
function examineDoubt(config: Config, reason: string, isHidden: boolean): Check {
  const name = 'queue durability';
  if (config.QUEUE_DURABILITY === 'relaxed')
    return {
      ...well(name, `relaxed: ${reason}`),
      hint: 'QUEUE_DURABILITY=relaxed: accepted answers may be lost on power failure',
    };
  if (config.QUEUE_DURABILITY === 'declared' && isHidden)
    return { ...well(name, `declared: ${config.QUEUE_DURABILITY_NOTE}`), hint: reason };
  const mend = isHidden
    ? 'Answers are rejected with 503 until this is fixed. If the provider promises that confirmed writes are not lost, set QUEUE_DURABILITY=declared and QUEUE_DURABILITY_NOTE to that promise: docs/managed-services.md.'
    : 'Answers are rejected with 503 until this is fixed. QUEUE_DURABILITY=relaxed accepts them without the durability guarantee.';
  return ill(name, reason, mend);
}

const UNTRUSTED =
  'The certificate is not trusted: set NODE_EXTRA_CA_CERTS to the certificate of its authority, and check that no intermediate certificate is missing.';

/** Remedies for connections with TLS, by the code of Node's error. */
const CERTIFICATE_MENDS: Record<string, string> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "Use the host name in the server's certificate in REDIS_URL.",
  CERT_HAS_EXPIRED: "The server's certificate has expired: renew it.",
  CERT_NOT_YET_VALID: "The server's certificate is not valid yet: check the clocks of both machines.",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
};

const LOGIN = 'The store rejects the credentials: check REDIS_PASSWORD, or user and password in REDIS_URL.';

/** Remedies for refusals of the store, by the code of its error reply. */
const STORE_MENDS: Record<string, string> = {
  ...CERTIFICATE_MENDS,
  WRONGPASS: LOGIN,
  NOAUTH: LOGIN,
  NOPERM: "The store's ACL denies the user a command: docs/managed-services.md lists what Parley needs.",
};

const SENTINEL_LOGIN = 'Check REDIS_SENTINEL_PASSWORD and REDIS_SENTINEL_USERNAME.';

/** Remedies for refusals of the Sentinels. */
const SENTINEL_MENDS: Record<string, string> = {
  ...CERTIFICATE_MENDS,
  WRONGPASS: SENTINEL_LOGIN,
  NOAUTH: SENTINEL_LOGIN,
  NOPERM: "The Sentinels' ACL denies the user a command: docs/managed-services.md lists what Parley needs.",
};

/** The code of an error reply, or Node's code of a failed connection. */
const codeOf = (error: unknown): string => {
  const kind = failureKind(error);
  return kind === 'connection' ? ((error as NodeJS.ErrnoException).code ?? kind) : kind;
};

/** Returns the remedy for a queue that cannot be reached. Queries the Sentinels to find out whether it is them. */
async function mendConnection({ redis }: Config, error: unknown): Promise<string> {
  if (!redis) return 'Check DATABASE_URL and that the server is running.';
  const sentinelError = await readSentinelReplicas(redis).then(
    () => undefined,
    (fault: unknown) => fault,
  );
  if (sentinelError !== undefined)
    return (
      SENTINEL_MENDS[codeOf(sentinelError)] ??
      'Check the addresses of the Sentinels in REDIS_URL, and the name of the primary.'
    );
  return STORE_MENDS[codeOf(error)] ?? 'Check REDIS_URL and that the server is running.';
}

/** Checks that every replica that can become the primary must confirm writes. */
async function examineReplicas(config: Config, { replication, sentinelReplicas }: Inspection): Promise<Check[]> {
  if (!replication) return [];
  const wanted = config.QUEUE_REPLICAS;
  const { reasons, promotable } = await checkReplicas(replication, sentinelReplicas, wanted);
  if (wanted === 0 && sentinelReplicas && promotable > 0)
    return [
      ill(
        'queue replicas',
        `${promotable} replicas can become the primary, but QUEUE_REPLICAS is 0: a failover can lose acknowledged answers`,
        `Set QUEUE_REPLICAS=${promotable}.`,
      ),
    ];
  const mend = `Answers are rejected with 503 until the number of replicas matches. Set QUEUE_REPLICAS to the number of replicas, set replica-priority 0 on replicas that must not be promoted, or remove replicas that no longer exist from Sentinel (SENTINEL RESET).`;
  return reasons.map(reason => ill('queue replicas', reason, mend));
}

/** Checks whether the memory of a Valkey or Redis is limited, and how full it is. */
function examineMemory(config: Config, durability: Inspection): Check[] {
  const ratio = durability.usedBytes / memoryLimit(durability, config.QUEUE_MAX_MB * 1024 * 1024);
  return [
    ...(durability.maxBytes > 0
      ? []
      : [
          ill(
            'queue memory',
            'maxmemory is 0: the server may run out of memory and be killed before answers are rejected',
            `Set maxmemory below the memory of the machine or the container. Until then, answers are rejected when the server uses QUEUE_MAX_MB (${config.QUEUE_MAX_MB}).`,
          ),
        ]),
    ...(ratio < MAX_MEMORY_RATIO
      ? []
      : [ill('queue memory', `${Math.round(ratio * 100)} % full`, 'Raise maxmemory or drain the queue.')]),
  ];
}
