// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Relay} from "../Relay.sol";

/// @title UnguardedRelay
/// @notice A relay whose first line of defence against starved calls failed, to show that the second one holds.
contract UnguardedRelay is Relay {
    constructor(address initialOwner) Relay(initialOwner) {}

    function _gasNeeded(uint256, uint256) internal pure override returns (uint256) {
        return 0;
    }
}
