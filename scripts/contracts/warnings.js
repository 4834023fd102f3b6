/** A place in a package, as Hardhat shows it. */
const IN_PACKAGE = /^\s*--> \.\/node_modules\//m;
/** Leaves out the compiler's warnings about packages: nobody here can follow them. Errors stay. */
export const ownWarnings = {
    id: "own-warnings",
    hookHandlers: {
        solidity: () => Promise.resolve({
            default: () => Promise.resolve({
                getCompilationJobErrors: async (context, job, output, next) => {
                    const errors = await next(context, job, output);
                    return errors.filter(({ severity, formattedMessage = "" }) => severity === "error" || !IN_PACKAGE.test(formattedMessage));
                },
            }),
        }),
    },
};
