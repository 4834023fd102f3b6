import tseslint from "typescript-eslint";

import moneta from "./scripts/lint/rules.mjs";

// The import rules are in .dependency-cruiser.mjs.

const banned = [
  { selector: "ExportDefaultDeclaration", message: "Use a named export." },
  { selector: "ExportAllDeclaration", message: "No barrels: import from the file that has it." },
  { selector: "ExportNamedDeclaration[source]", message: "No barrels: import from the file that has it." },
  { selector: "TSEnumDeclaration", message: "Use a union of strings." },
  // Expressions with a type annotation, such as handlers of a library's type, are allowed.
  ...["Program", "Program > ExportNamedDeclaration"].map((place) => ({
    selector: `${place} > VariableDeclaration > VariableDeclarator:not([id.typeAnnotation]) > :matches(ArrowFunctionExpression, FunctionExpression)`,
    message: "At the top level, use a function declaration.",
  })),
];

const ENVIRONMENT_MESSAGE = "Settings come from api/config, parsed.";
const environmentProperties = [{ object: "process", property: "env", message: ENVIRONMENT_MESSAGE }];
const environmentImports = ["process", "node:process"].map((name) => ({
  name,
  importNames: ["env", "default"],
  message: ENVIRONMENT_MESSAGE,
}));

/** Only api/chain encodes and decodes contract calls; .dependency-cruiser.mjs keeps the ABI there too. */
const CONTRACT_MESSAGE = "Add a function to api/chain, such as one of reads.ts, and call that.";
const contractProperties = ["tryCalls", "simulateCalls"].map((property) => ({ property, message: CONTRACT_MESSAGE }));
const contractImports = [
  {
    name: "ethers",
    importNames: ["AbiCoder", "BaseContract", "Contract", "ContractFactory", "Interface", "solidityPacked"],
    message: CONTRACT_MESSAGE,
  },
];

/** Rows with JSON columns stay in the store; everybody else gets them parsed. */
const rowImports = [
  {
    group: ["**/store/db/schema.ts"],
    importNames: ["ApiTokenRow", "CollectionRow", "EventRow", "NftRow", "RequestRow", "WebhookRow"],
    message: "Use the parsed type of the store's wing, such as StoredRequest.",
  },
];

/** A later block replaces the options of an earlier one, so each block lists everything that it bans. */
function bans(files, { ignores = [], properties, imports }) {
  return {
    files,
    ignores,
    rules: {
      "no-restricted-properties": ["error", ...properties],
      "no-restricted-imports": ["error", { paths: imports, patterns: rowImports }],
    },
  };
}

/** Files that may be long: each is one list, of tables and columns or of settings, which no split makes easier to read. */
const LISTS = ["api/store/db/schema.ts", "api/store/db/migrations/0001-initial.ts", "api/config/variables.ts"];

export default tseslint.config(
  {
    ignores: [
      "client/document.ts",
      "console/built/",
      "artifacts/",
      "cache/",
      "contracts/generated/",
      "coverage/",
      "data/",
      "dist/",
      "types/",
    ],
  },
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-invalid-void-type": ["error", { allowAsThisParameter: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // The compiler requires brackets for index signatures (noPropertyAccessFromIndexSignature).
      "@typescript-eslint/dot-notation": "off",
    },
  },
  {
    files: ["**/*.{js,mjs,ts,tsx}"],
    plugins: { moneta },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": "error",
      "object-shorthand": "error",
      "max-lines": ["error", { max: 450 }],
      "moneta/function-length": ["error", { max: 60 }],
      "moneta/kebab-case-files": "error",
      "moneta/local-imports": "error",
      "no-restricted-syntax": ["error", ...banned],
    },
  },
  {
    // A tool requires the default exports of these files, such as Hardhat for the action of a task.
    files: ["scripts/*/task.ts", "**/*.config.{js,ts}", "scripts/lint/rules.mjs", ".dependency-cruiser.mjs"],
    rules: { "no-restricted-syntax": "off" },
  },
  // The entries of a package export from its files.
  {
    files: ["client/entry.ts", "client/*-entry.ts"],
    rules: { "no-restricted-syntax": "off" },
  },
  bans(["api/**/*.{ts,tsx}"], {
    ignores: ["api/config/**"],
    properties: [...environmentProperties, ...contractProperties],
    imports: [...environmentImports, ...contractImports],
  }),
  bans(["api/chain/**/*.ts"], { properties: environmentProperties, imports: environmentImports }),
  {
    files: ["test/**/*.ts"],
    rules: {
      // Chai's `expect(value).to.be.true` is an expression statement.
      "@typescript-eslint/no-unused-expressions": "off",
      // A test knows its fixtures better than the compiler.
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
  { files: LISTS, rules: { "max-lines": "off", "moneta/function-length": "off" } },
);
