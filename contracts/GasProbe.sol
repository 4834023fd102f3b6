// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title GasProbe
/// @notice Measures what calls cost on the chain that runs it. It is never deployed: the service passes its creation
/// code, with the steps at the end, to `eth_call` as a state override in place of the relay's code. So the real
/// contracts accept the calls as the relay's, nothing is stored, and nobody pays.
contract GasProbe {
    /// @param target The contract to call.
    /// @param data The calldata, including the request number at its end.
    struct Step {
        address target;
        bytes data;
    }

    /// @param newSlot Gas for the first write to a storage slot.
    /// @param slotUpdate Gas for changing a slot that is in use.
    /// @param account Gas for the first access to an account.
    struct Prices {
        uint256 newSlot;
        uint256 slotUpdate;
        uint256 account;
    }

    /// @dev A slot and an account that nothing else uses.
    bytes32 private constant _FRESH = keccak256("Moneta gas probe");

    /// @notice Thrown when a step reverts: its gas would be meaningless.
    /// @param index The position of the step.
    /// @param reason The revert data of the step.
    error GasProbeStepFailed(uint256 index, bytes reason);

    /// @notice Runs the steps in order, each on top of what the earlier ones changed. Ends with the ABI encoding of two
    /// values instead of code: the prices, and the gas that each step used, including its call.
    /// @param steps The calls to measure.
    constructor(Step[] memory steps) {
        Prices memory prices = _measurePrices();
        uint256[] memory used = new uint256[](steps.length);
        for (uint256 i = 0; i < steps.length; ++i) {
            address target = steps[i].target;
            bytes memory data = steps[i].data;
            uint256 before = gasleft();
            // solhint-disable-next-line avoid-low-level-calls
            (bool success, bytes memory reason) = target.call(data);
            used[i] = before - gasleft();
            if (!success) revert GasProbeStepFailed(i, reason);
        }
        bytes memory answer = abi.encode(prices, used);
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }

    /// @dev Slot 0 of the relay holds its owner, so it is in use. Written in assembly because these are prices of
    /// single instructions.
    function _measurePrices() private returns (Prices memory prices) {
        bytes32 fresh = _FRESH;
        uint256 newSlot;
        uint256 slotUpdate;
        uint256 account;
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            newSlot := gas()
            sstore(fresh, 1)
            newSlot := sub(newSlot, gas())
            slotUpdate := gas()
            sstore(0, add(sload(0), 1))
            slotUpdate := sub(slotUpdate, gas())
            account := gas()
            // The compiler would drop a balance that nothing uses.
            mstore(0, balance(shr(96, fresh)))
            account := sub(account, gas())
        }
        return Prices(newSlot, slotUpdate, account);
    }
}
