// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Relay} from "../Relay.sol";

/// @title LowReserveRelay
/// @notice A relay whose reserve is too small for two new storage slots. Tests use it to show what happens where a slot
/// costs more than {GAS_RESERVE} was planned for.
contract LowReserveRelay is Relay {
    /// @dev Enough for one new slot of 22,100 gas, and no second one.
    uint256 private constant _RESERVE = 30_000;

    constructor(address initialOwner) Relay(initialOwner, "") {}

    function _gasNeeded(uint256 gasLimit, uint256 dataLength) internal pure override returns (uint256) {
        return super._gasNeeded(gasLimit, dataLength) - GAS_RESERVE + _RESERVE;
    }
}
