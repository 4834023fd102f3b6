import type { ApiDocument } from "./document.ts";

const METHODS = ["get", "post", "put", "patch", "delete"] as const;

/** Moves the description of a parameter's schema to the parameter, where generators and pages look for it. */
export function describeParameters({ paths = {} }: ApiDocument): void {
  const operations = Object.values(paths).flatMap((item) => METHODS.map((method) => item[method]));
  for (const parameter of operations.flatMap((operation) => operation?.parameters ?? [])) {
    if ("$ref" in parameter || parameter.description !== undefined || parameter.schema === undefined) continue;
    const { description, ...schema } = parameter.schema as { description?: string };
    if (description !== undefined) Object.assign(parameter, { description, schema });
  }
}
