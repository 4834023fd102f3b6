import { expect } from "chai";
import { Deployment } from "kubernetes-models/apps/v1";
import { Job } from "kubernetes-models/batch/v1";
import { Ingress, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Service } from "kubernetes-models/v1";
import { parseAllDocuments } from "yaml";

import packageJson from "../../../package.json" with { type: "json" };
import { parseSettings } from "../../../api/config/settings.ts";
import { ROLES, VARIABLES } from "../../../api/config/variables.ts";
import { projectFile } from "../support/project-file.ts";

/** The kinds of the file, with Kubernetes' own schema of each. */
const KINDS = { ConfigMap, Deployment, Ingress, Job, NetworkPolicy, PodDisruptionBudget, Service };

interface Container {
  image: string;
  env?: { name: string; value: string }[];
  envFrom: ({ secretRef: { name: string } } | { configMapRef: { name: string } })[];
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}

interface PodSpec {
  securityContext: object;
  automountServiceAccountToken: boolean;
  terminationGracePeriodSeconds?: number;
  containers: [Container];
  volumes: { name: string; secret?: { secretName: string }; configMap?: { name: string } }[];
}

interface Item {
  kind: keyof typeof KINDS;
  metadata: { name: string; labels: object };
  data: Record<string, string>;
  spec: {
    selector: { matchLabels: object };
    template: { metadata: { labels: object }; spec: PodSpec };
  };
}

const items = parseAllDocuments(projectFile("ops/kubernetes.yaml")).map((document) => document.toJS() as Item);
const pods = items.filter(({ kind }) => kind === "Deployment" || kind === "Job");
const deployments = items.filter(({ kind }) => kind === "Deployment");

function secretsOf({ spec }: Item): string[] {
  const { containers, volumes } = spec.template.spec;
  return [
    ...containers[0].envFrom.flatMap((from) => ("secretRef" in from ? [from.secretRef.name] : [])),
    ...volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName])),
  ].sort();
}

function roleOf({ spec }: Item): string | undefined {
  return spec.template.spec.containers[0].env?.find(({ name }) => name === "ROLES")?.value;
}

describe("ops/kubernetes.yaml", () => {
  it("fits the schemas of Kubernetes", () => {
    for (const item of items) {
      // The classes take what their types allow; whether the file does is what the check finds out.
      const create = KINDS[item.kind] as unknown as new (item: Item) => { validate(): void };
      expect(() => {
        new create(item).validate();
      }, `${item.kind} ${item.metadata.name}`).not.to.throw();
    }
    const broken = { ...deployments[0]!, spec: { ...deployments[0]!.spec, replicas: "two" } };
    expect(() => {
      new Deployment(broken as unknown as ConstructorParameters<typeof Deployment>[0]).validate();
    }).to.throw("replicas must be integer");
  });

  it("has settings that exist, with values that are valid", () => {
    const known: string[] = Object.keys(VARIABLES);
    const { data } = items.find(({ kind }) => kind === "ConfigMap")!;
    for (const { metadata, spec } of pods) {
      const own = (spec.template.spec.containers[0].env ?? []).map(({ name, value }) => [name, value] as const);
      const settings = { ...data, ...Object.fromEntries(own) };
      expect(known, metadata.name).to.include.members(Object.keys(settings));
      const secret = { DATABASE_URL: "postgres://moneta@db.example/moneta", RPC_URLS: "https://node.example" };
      expect(() => parseSettings({ ...settings, ...secret }), metadata.name).not.to.throw();
    }
  });

  it("runs every role but `ipfs`, each with no more secrets than it needs", () => {
    expect(deployments.map(roleOf)).to.have.members(ROLES.filter((role) => role !== "ipfs"));
    const secrets = Object.fromEntries(pods.map((item) => [roleOf(item) ?? "migrate", secretsOf(item)]));
    expect(secrets).to.deep.equal({
      migrate: ["moneta-database-owner", "moneta-node"],
      api: ["moneta-api", "moneta-database", "moneta-node"],
      relayer: ["moneta-database-relayer", "moneta-node", "moneta-relayer", "moneta-seed"],
      indexer: ["moneta-database", "moneta-node"],
      webhooks: ["moneta-database", "moneta-node", "moneta-webhooks"],
      media: ["moneta-database-media", "moneta-node"],
    });
  });

  it("names only secrets and files that docs/install.md creates", () => {
    const guide = projectFile("docs/install.md");
    const created = [...guide.matchAll(/^ *kubectl create (?:secret generic|configmap) (\S+)/gm)].map(
      ([, name]) => name,
    );
    const files = pods.flatMap(({ spec }) =>
      spec.template.spec.volumes.flatMap(({ configMap }) => configMap?.name ?? []),
    );
    expect(new Set(created)).to.deep.equal(new Set([...pods.flatMap(secretsOf), ...files]));
  });

  it("runs the image of this version as user 1000 with a root file system that nobody can write", () => {
    for (const { metadata, spec } of pods) {
      const pod = spec.template.spec;
      const [container] = pod.containers;
      expect(container.image, metadata.name).to.equal(`registry.example.com/moneta:${packageJson.version}`);
      expect(pod.securityContext, metadata.name).to.include({ runAsNonRoot: true, runAsUser: 1000 });
      expect(pod.automountServiceAccountToken, metadata.name).to.equal(false);
      expect(container.securityContext, metadata.name).to.deep.equal({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ["ALL"] },
      });
      expect(container.volumeMounts.map(({ name }) => name)).to.have.members(pod.volumes.map(({ name }) => name));
    }
    for (const { metadata, spec } of deployments) {
      expect(spec.selector.matchLabels, metadata.name).to.deep.equal(spec.template.metadata.labels);
      expect(spec.template.spec.terminationGracePeriodSeconds, metadata.name).to.equal(45);
    }
  });
});
