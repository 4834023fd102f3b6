// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {WeakHashCollection} from "../../../../contracts/mocks/WeakHashCollection.sol";
import {HostileErc721Handler} from "./HostileErc721Handler.sol";
import {HostileErc721Invariants} from "./HostileErc721Invariants.t.sol";

/// @title HostileCompactHandler
/// @notice The same calls to a collection with compact storage and few keys.
contract HostileCompactHandler is HostileErc721Handler {
    constructor(bool soulbound) HostileErc721Handler(soulbound) {}

    function _newErc721(address relay) internal override returns (address) {
        return address(new WeakHashCollection(relay));
    }
}

/// @title HostileCompactInvariants
/// @notice The same rules for collections with compact storage.
contract HostileCompactInvariants is HostileErc721Invariants {
    function _newHandler(bool soulbound) internal override returns (HostileErc721Handler) {
        return new HostileCompactHandler(soulbound);
    }
}
