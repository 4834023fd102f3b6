// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Relay} from "../Relay.sol";

/// @title UnguardedRelay
/// @notice A relay without the gas check before a call. Tests use it to show that the check after a call works.
contract UnguardedRelay is Relay {
    constructor(address initialOwner) Relay(initialOwner, "") {}

    function _gasNeeded(uint256, uint256) internal pure override returns (uint256) {
        return 0;
    }
}
