import { basename, dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

const KEBAB_CASE = /^\.?[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/;
/** A test of a contract has the contract's name. */
const CONTRACT_TEST = /^test[\\/]contracts[\\/].*\.test\.ts$/;

/** Files are named in-this-way.ts. */
const kebabCaseFiles = {
  meta: { type: "suggestion", schema: [] },
  create(context) {
    return {
      Program(node) {
        const name = basename(context.filename);
        const free = CONTRACT_TEST.test(relative(root, context.filename));
        if (!free && !KEBAB_CASE.test(name))
          context.report({ node, message: `Name the file in kebab-case, not ${name}.` });
        if (/^index\.[a-z]+$/.test(name))
          context.report({ node, message: "No barrels: name the file after what it does." });
      },
    };
  },
};

/** A room in a wing of the store is one level deeper than other folders, and so are tests, which mirror the folders. */
function maxClimb(filename) {
  const path = relative(root, filename).replaceAll("\\", "/");
  if (path.startsWith("test/")) return 4;
  return /^api\/store\/[^/]+\/[^/]+\//.test(path) ? 3 : 2;
}

/**
 * A local import names the file with its extension and climbs at most `maxClimb` levels. An import into another top
 * folder, such as from a test to what it tests, may climb as far as it needs to.
 */
const localImports = {
  meta: { type: "suggestion", schema: [] },
  create(context) {
    function check(node) {
      const path = node.source?.value;
      if (typeof path !== "string" || !path.startsWith(".")) return;
      if (!/\.(ts|tsx|js|mjs|json)$/.test(path)) {
        context.report({ node, message: "Name the file with its extension." });
      }
      const climb = path.split("/").filter((part) => part === "..").length;
      if (climb > maxClimb(context.filename) && !leavesTopFolder(context.filename, path)) {
        context.report({ node, message: `Climb ${maxClimb(context.filename)} levels at most.` });
      }
    }
    return { ImportDeclaration: check, ImportExpression: check, ExportNamedDeclaration: check, TSImportType: check };
  },
};

function leavesTopFolder(from, path) {
  return topFolder(relative(root, from)) !== topFolder(relative(root, resolve(dirname(from), path)));
}

function topFolder(path) {
  return path.split(/[\\/]/)[0];
}

/** Callbacks of these only group tests: their length is the length of the file. */
const TEST_GROUPS = ["describe", "describeOn", "describeStorages", "describeWithBackups", "context", "suite"];

/** A function has at most `max` lines, comments and blank lines included. A callback that groups tests is not counted. */
const functionLength = {
  meta: {
    type: "suggestion",
    schema: [{ type: "object", properties: { max: { type: "integer", minimum: 1 } }, required: ["max"] }],
  },
  create(context) {
    const [{ max }] = context.options;
    function check(node) {
      const lines = node.loc.end.line - node.loc.start.line + 1;
      if (lines <= max || groupsTests(node)) return;
      context.report({
        node,
        message: `Split the function by meaning: it has ${lines} lines, at most ${max} are allowed.`,
      });
    }
    return { FunctionDeclaration: check, FunctionExpression: check, ArrowFunctionExpression: check };
  },
};

/** Whether a function is the callback of `describe(...)`, `describe.only(...)` and the like. */
function groupsTests({ parent: call }) {
  if (call.type !== "CallExpression") return false;
  const callee = call.callee.type === "MemberExpression" ? call.callee.object : call.callee;
  return callee.type === "Identifier" && TEST_GROUPS.includes(callee.name);
}

export default {
  rules: { "kebab-case-files": kebabCaseFiles, "local-imports": localImports, "function-length": functionLength },
};
