// `npm run test:mutation` tries changes of the contracts, and `npm run test:mutation -- server` defects of the server.
await import(process.argv[2] === "server" ? "./server.ts" : "./contracts.ts");
