/**
 * JSON schemas of values that have the form of Kubernetes' own objects, by the name of the value. Fields that the chart
 * passes on without reading them are typed as far as a typing error is likely: names, and text that YAML reads as a number.
 */
type Schema = Record<string, unknown>;

const TEXTS: Schema = { type: 'object', additionalProperties: { type: 'string' } };
const NAME: Schema = { type: 'string', minLength: 1 };

const listOf = (items: Schema): Schema => ({ type: 'array', items });
const closed = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length > 0 && { required }),
});
/** An object whose other fields are Kubernetes' own and not checked here. */
const open = (properties: Record<string, Schema>, required: string[] = Object.keys(properties)): Schema => ({
  type: 'object',
  properties,
  required,
});

/** A quantity such as 200m, 1.5, 640Mi or 1e3. */
const QUANTITY: Schema = {
  type: ['string', 'number'],
  pattern: '^[0-9]+([.][0-9]+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][0-9]+)?$',
};
/** Resources of Kubernetes, and extended ones, whose names have a domain. */
const QUANTITIES: Schema = {
  type: 'object',
  propertyNames: { pattern: '^(cpu|memory|ephemeral-storage|hugepages-.+|[^/]+/[^/]+)$' },
  additionalProperties: QUANTITY,
};

const KEY_OF: Schema = closed({ name: NAME, key: NAME, optional: { type: 'boolean' } }, ['name', 'key']);
const ENVIRONMENT: Schema = {
  ...closed(
    {
      name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      value: { type: 'string' },
      valueFrom: {
        ...closed({
          secretKeyRef: KEY_OF,
          configMapKeyRef: KEY_OF,
          fieldRef: open({ fieldPath: NAME }),
          resourceFieldRef: open({ resource: NAME }),
          fileKeyRef: open({ volumeName: NAME, path: NAME, key: NAME }),
        }),
        minProperties: 1,
        maxProperties: 1,
      },
    },
    ['name'],
  ),
  maxProperties: 2,
};

const SOURCE: Schema = closed({ name: NAME, optional: { type: 'boolean' } }, ['name']);
const CONTAINERS = listOf(open({ name: NAME, image: NAME }));

/** Values that parent charts set for all their charts. They may contain names that this chart does not read. */
const GLOBAL_NAMES = ['imageRegistry', 'imagePullSecrets', 'storageClass'];

/** Keywords to add to the schema of an object, because it is shared with other charts. */
export const GLOBAL: Schema = {
  additionalProperties: true,
  propertyNames: { anyOf: [{ enum: GLOBAL_NAMES }, { not: { pattern: '^(?i)(image|storage)' } }] },
};

export const OBJECT_SCHEMAS: Readonly<Record<string, Schema>> = {
  annotations: TEXTS,
  commonLabels: TEXTS,
  labels: TEXTS,
  nodeSelector: TEXTS,
  podAnnotations: TEXTS,
  podLabels: TEXTS,
  ruleLabels: TEXTS,
  minAllowed: QUANTITIES,
  maxAllowed: QUANTITIES,
  resources: closed({ requests: QUANTITIES, limits: QUANTITIES, claims: listOf(open({ name: NAME })) }),
  imagePullSecrets: listOf({ anyOf: [NAME, open({ name: NAME })] }),
  hostAliases: listOf(closed({ ip: NAME, hostnames: listOf(NAME) }, ['ip', 'hostnames'])),
  dnsConfig: closed({
    nameservers: listOf(NAME),
    searches: listOf(NAME),
    options: listOf(closed({ name: NAME, value: { type: 'string' } }, ['name'])),
  }),
  tolerations: listOf(
    closed({
      key: { type: 'string' },
      operator: { enum: ['Exists', 'Equal', 'Lt', 'Gt'] },
      value: { type: 'string' },
      effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
      tolerationSeconds: { type: 'integer' },
    }),
  ),
  topologySpreadConstraints: listOf(
    open({ maxSkew: { type: 'integer', minimum: 1 }, topologyKey: NAME, whenUnsatisfiable: NAME }),
  ),
  extraEnv: listOf(ENVIRONMENT),
  extraEnvFrom: listOf(closed({ prefix: { type: 'string' }, configMapRef: SOURCE, secretRef: SOURCE })),
  extraVolumes: listOf(open({ name: NAME })),
  extraVolumeMounts: listOf(open({ name: NAME, mountPath: NAME })),
  extraContainers: CONTAINERS,
  initContainers: CONTAINERS,
  parentRefs: listOf(open({ name: NAME })),
  tls: listOf(closed({ hosts: listOf(NAME), secretName: NAME })),
  extraManifests: listOf({ type: ['string', 'object'] }),
};
