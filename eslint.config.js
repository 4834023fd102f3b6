import tseslint from "typescript-eslint";

import moneta from "./scripts/lint/rules.mjs";

// Who may import whom is in .dependency-cruiser.mjs.

const banned = [
  { selector: "ExportDefaultDeclaration", message: "Exports have names." },
  { selector: "ExportAllDeclaration", message: "No barrels: import from the file that has it." },
  { selector: "ExportNamedDeclaration[source]", message: "No barrels: import from the file that has it." },
  { selector: "TSEnumDeclaration", message: "Use a union of strings." },
  // One that is annotated as a whole, as a handler of a library's type, stays an expression.
  ...["Program", "Program > ExportNamedDeclaration"].map((place) => ({
    selector: `${place} > VariableDeclaration > VariableDeclarator:not([id.typeAnnotation]) > :matches(ArrowFunctionExpression, FunctionExpression)`,
    message: "At the top of a file write a function declaration.",
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
const CONTRACT_MESSAGE = "Add a function to api/chain, such as one of relay-reads.ts, and call that.";
const contractProperties = ["tryCalls", "simulateCalls"].map((property) => ({ property, message: CONTRACT_MESSAGE }));
const contractImports = [
  {
    name: "ethers",
    importNames: ["AbiCoder", "BaseContract", "Contract", "ContractFactory", "Interface", "solidityPacked"],
    message: CONTRACT_MESSAGE,
  },
];

/** Blocks of one rule replace each other, so each names all that it bans. */
function bans(files, { ignores = [], properties, imports }) {
  return {
    files,
    ignores,
    rules: {
      "no-restricted-properties": ["error", ...properties],
      "no-restricted-imports": ["error", { paths: imports }],
    },
  };
}

/** Files that may be long: each is one list of tables and columns, which no split makes easier to read. */
const LISTS_OF_TABLES = ["api/store/db/schema.ts", "api/store/db/migrations/0001-initial.ts"];

/** Files that are still over 250 lines. Split them and remove them here; add none. */
const FILES_TO_SPLIT = [
  "api/config/settings.ts",
  "api/store/requests/reservations.ts",
  "test/api/cli/keys.test.ts",
  "test/api/media/copy-ipfs.test.ts",
  "test/api/store/ledger/rollback.test.ts",
  "test/api/v1/ipfs.test.ts",
  "test/api/v1/webhook-sending.test.ts",
  "test/api/webhooks/dispatcher.test.ts",
  "test/contracts/ERC1155Collection.test.ts",
  "test/contracts/ERC721Collection.test.ts",
  "test/contracts/Relay.test.ts",
  "test/contracts/collection/CollectionAuthorizations.test.ts",
  "test/contracts/gas/scenarios.ts",
];

/** Files that still have a function over 60 lines. Split it and remove the file here; add none. */
const FUNCTIONS_TO_SPLIT = [
  "api/context/service.ts",
  "test/api/relayer/lane.test.ts",
  "test/api/store/ledger/rollback.test.ts",
  "test/api/support/api.ts",
  "test/contracts/gas/bench.ts",
  "test/contracts/gas/scenarios.ts",
];

export default tseslint.config(
  {
    ignores: ["api/client/document.ts", "artifacts/", "cache/", "contracts/generated/", "coverage/", "data/", "types/"],
  },
  {
    files: ["**/*.ts"],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
      "@typescript-eslint/no-import-type-side-effects": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", ignoreRestSiblings: true },
      ],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // Index signatures are read by brackets: the compiler asks for it (noPropertyAccessFromIndexSignature).
      "@typescript-eslint/dot-notation": "off",
    },
  },
  {
    files: ["**/*.{js,mjs,ts}"],
    plugins: { moneta },
    rules: {
      eqeqeq: ["error", "always", { null: "ignore" }],
      "no-var": "error",
      "prefer-const": "error",
      "object-shorthand": "error",
      "max-lines": ["error", { max: 250 }],
      "moneta/function-length": ["error", { max: 60 }],
      "moneta/kebab-case-files": "error",
      "moneta/local-imports": "error",
      "no-restricted-syntax": ["error", ...banned],
    },
  },
  {
    // These export what a tool asks for, such as Hardhat for the action of a task.
    files: [
      "scripts/*/task.ts",
      "*.config.{js,ts}",
      "scripts/lint/rules.mjs",
      "scripts/test/reporter.ts",
      ".dependency-cruiser.mjs",
    ],
    rules: { "no-restricted-syntax": "off" },
  },
  bans(["api/**/*.ts"], {
    ignores: ["api/config/**"],
    properties: [...environmentProperties, ...contractProperties],
    imports: [...environmentImports, ...contractImports],
  }),
  bans(["api/chain/**/*.ts"], { properties: environmentProperties, imports: environmentImports }),
  {
    files: ["test/**/*.ts"],
    rules: {
      // Chai's `expect(value).to.be.true` is an expression.
      "@typescript-eslint/no-unused-expressions": "off",
      // A test may know more about its fixtures than the compiler.
      "@typescript-eslint/no-non-null-assertion": "off",
    },
  },
  { files: LISTS_OF_TABLES, rules: { "max-lines": "off", "moneta/function-length": "off" } },
  { files: FILES_TO_SPLIT, rules: { "max-lines": "off" } },
  { files: FUNCTIONS_TO_SPLIT, rules: { "moneta/function-length": "off" } },
);
