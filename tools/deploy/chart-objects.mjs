/** Where the values of the chart enter an object of the manifests, by its kind. */

const camelCase = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
const service = (name) => `$.Values.services.${camelCase(name)}`;
/** Variables whose value the production overlay sets to that of an example. */
const variables = {
  PUBLIC_URL: 'include "parley.publicUrl" $',
  TRUSTED_PROXIES: '$.Values.trustedProxies',
};
/** Keys of the Secret "parley" that may be in another Secret. */
const addresses = {
  DATABASE_URL: '$.Values.secrets.databaseUrl',
  MIGRATION_DATABASE_URL: '$.Values.secrets.migrationDatabaseUrl',
  REDIS_URL: '$.Values.secrets.redisUrl',
};
const secrets = {
  parley: '$.Values.secrets.name',
  'parley-providers': '$.Values.secrets.providers',
  'parley-sign-in': '$.Values.secrets.signIn',
  'parley-webhooks': '$.Values.secrets.webhooks',
};

/**
 * @param {any} object
 * @param {ReturnType<import('./go-template.mjs').createTemplate>} template
 * @param {{ moreMetrics?: any[], isStore: boolean }} options metrics of the component hpa-metrics;
 *   whether it is a part of PostgreSQL or Redis
 */
export function templateOf(object, template, options) {
  const copy = structuredClone(object);
  copy.metadata.namespace = template.text('$.Release.Namespace');
  changes[copy.kind]?.(copy, template, options);
  return copy;
}

const changes = {
  Deployment(object, template) {
    const { name } = object.metadata;
    const { replicas, ...spec } = object.spec;
    const condition = `if and (eq $.Values.autoscaling.kind "none") ${service(name)}.replicas`;
    object.spec = {
      [template.when(condition, { replicas: template.part(`${service(name)}.replicas`) })]:
        replicas ?? null,
      ...spec,
    };
    changePod(object.spec.template.spec, name, template);
  },

  StatefulSet(object, template, { isStore }) {
    if (!isStore) return changePod(object.spec.template.spec, object.metadata.name, template);
    const store = `$.Values.databases.${object.metadata.name}`;
    const [container] = object.spec.template.spec.containers;
    container.image = template.text(`${store}.image`);
    container.resources = template.block(`toYaml ${store}.resources`);
    for (const { valueFrom } of container.env ?? [])
      if (valueFrom) changeSecretKey(valueFrom.secretKeyRef, template);
    const [claim] = object.spec.volumeClaimTemplates;
    claim.spec.resources.requests.storage = template.text(`${store}.storage`);
    claim.spec[
      template.when(`with ${store}.storageClassName`, { storageClassName: template.text('.') })
    ] = null;
  },

  HorizontalPodAutoscaler({ metadata, spec }, template, { moreMetrics }) {
    spec.minReplicas = template.part(`${service(metadata.name)}.minReplicas`);
    spec.maxReplicas = template.part(`${service(metadata.name)}.maxReplicas`);
    const own = spec.metrics.length;
    spec.metrics[0].resource.target.averageValue = template.text(
      `${service(metadata.name)}.targetCpu`,
    );
    if (moreMetrics)
      spec.metrics.push(
        template.when('if eq $.Values.autoscaling.kind "metrics"', moreMetrics.slice(own)),
      );
  },

  ScaledObject({ metadata, spec }, template) {
    spec.minReplicaCount = template.part(`${service(metadata.name)}.minReplicas`);
    spec.maxReplicaCount = template.part(`${service(metadata.name)}.maxReplicas`);
    for (const { type, metadata: settings } of spec.triggers) {
      if (type === 'cpu') settings.value = template.text(`${service(metadata.name)}.targetCpu`);
      else {
        settings.serverAddress = template.text('$.Values.autoscaling.prometheusUrl');
        settings.query = settings.query.replace(
          'namespace="parley"',
          `namespace="${template.part('$.Release.Namespace')}"`,
        );
      }
    }
  },

  Gateway(object, template) {
    object.spec.gatewayClassName = ingressClass(object.spec.gatewayClassName, template);
    object.spec.listeners[0].hostname = template.text('$.Values.host');
    object.spec.listeners[0].tls.certificateRefs[0].name = template.text(
      '$.Values.ingress.tlsSecret',
    );
    addAnnotations(object.metadata, template);
  },

  HTTPRoute({ spec }, template) {
    spec.hostnames = [template.text('$.Values.host')];
  },

  Ingress(object, template) {
    object.spec.ingressClassName = ingressClass(object.spec.ingressClassName, template);
    object.spec.tls[0] = {
      hosts: [template.text('$.Values.host')],
      secretName: template.text('$.Values.ingress.tlsSecret'),
    };
    object.spec.rules[0].host = template.text('$.Values.host');
    addAnnotations(object.metadata, template);
  },

  NetworkPolicy({ metadata, spec }, template) {
    const setNamespace = (expression) => {
      const { matchLabels } = spec.ingress[0].from[0].namespaceSelector;
      for (const [label, name] of Object.entries(matchLabels))
        matchLabels[label] = template.text(expression(name));
    };
    if (metadata.name === 'from-outside')
      setNamespace((name) => `$.Values.ingress.namespace | default "${name}"`);
    if (metadata.name === 'metrics') setNamespace(() => '$.Values.monitoring.namespace');
    const [, store] = /^to-(postgres|redis)$/.exec(metadata.name) ?? [];
    if (store && spec.egress[0].to[0].ipBlock)
      spec.egress[0].to = template.block(`toYaml $.Values.networkPolicies.${store}`);
  },
};

function changePod(spec, name, template) {
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const [, app] = /parley-([a-z-]+):/.exec(container.image);
    container.image = template.text(`include "parley.image" (list $ "${camelCase(app)}" "${app}")`);
    const owner = container.name === 'migrate' ? '$.Values.migrate' : service(name);
    container.resources = template.block(`toYaml ${owner}.resources`);
    for (const { secretRef } of container.envFrom ?? [])
      secretRef.name = template.text(secrets[secretRef.name]);
    for (const { valueFrom } of container.env)
      if (valueFrom) changeSecretKey(valueFrom.secretKeyRef, template);
    addCertificates(container, template);
    if (container.name !== 'migrate') container.env = environment(container.env, name, template);
  }
  spec.volumes.push(
    template.when(certificates, [
      { name: 'ca-certificates', configMap: { name: template.text('.') } },
    ]),
  );
  spec[
    template.when('with $.Values.imagePullSecrets', {
      imagePullSecrets: template.block('toYaml .'),
    })
  ] = null;
}

const certificates = 'with $.Values.caCertificates';

function addCertificates(container, template) {
  const mount = { name: 'ca-certificates', mountPath: '/etc/parley' };
  if (container.volumeMounts) container.volumeMounts.push(template.when(certificates, [mount]));
  else container[template.when(certificates, { volumeMounts: [mount] })] = null;
  container.env.push(
    template.when(certificates, [{ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/parley/ca.crt' }]),
  );
}

/**
 * The variables of a service: its own, the settings of all, and those of the values, each of which
 * replaces the ones before.
 */
function environment(list, name, template) {
  const own = list
    .filter(({ name, valueFrom }) => name && !valueFrom)
    .map((one) => `"${one.name}" ${valueOf(one)}`);
  const expression = `include "parley.env" (list $ ${service(name)}.env (dict\n  ${own.join('\n  ')}\n))`;
  return template.block(
    expression,
    list.filter(({ name, valueFrom }) => !name || valueFrom),
  );
}

const valueOf = ({ name, value }) =>
  variables[name] ? `(${variables[name]})` : JSON.stringify(value);

function changeSecretKey(reference, template) {
  const address = addresses[reference.key];
  if (address) reference.key = template.text(`${address}.key`);
  reference.name = template.text(address ? `${address}.name` : secrets[reference.name]);
}

const ingressClass = (name, template) =>
  template.text(`$.Values.ingress.className | default "${name}"`);

function addAnnotations(metadata, template) {
  const own = Object.entries(metadata.annotations ?? {}).map(
    ([name, value]) => `\n  "${name}" "${value}"`,
  );
  if (own.length > 0)
    metadata.annotations = template.block(
      `toYaml (merge (deepCopy $.Values.ingress.annotations) (dict${own.join('')}\n))`,
    );
  else
    metadata[
      template.when('with $.Values.ingress.annotations', {
        annotations: template.block('toYaml .'),
      })
    ] = null;
}
