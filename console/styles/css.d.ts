/** The style sheet of a package, which the build adds to the chunk that imports it. */
declare module "*.css";
